import { createRouter, Extension } from 'phantom-mcp'
import { RpcError } from 'phantom-mcp/testing'
import { expect, test } from 'vitest'
import { describeMatrix, verifies } from '../_setup.js'
import { createWeather, DECLARED, STATELESS, WEATHER, weatherRouter } from './_weather.js'

describeMatrix('tools and extensions', {}, (setup, { version }) => {
  const here = version === STATELESS

  verifies('ext.outcome', 'an outcome has its own resultType, for those who declared the extension', async () => {
    const client = await setup(weatherRouter(createWeather()), { capabilities: DECLARED })
    const result = await client.callTool('plan')
    if (here) {
      expect(result).toMatchObject({ resultType: 'forecast', place: 'Bonn', by: 'plan' })
      expect(result).not.toHaveProperty('content')
      return
    }
    expect(result.content).toEqual([{ type: 'text', text: 'No forecasts: Bonn' }])
  })

  test('an outcome may come to what the tool would return', async () => {
    const client = await setup(weatherRouter(createWeather()))
    expect((await client.callTool('plan')).content).toEqual([{ type: 'text', text: 'No forecasts: Bonn' }])
  })

  test('an outcome never reaches who did not declare it, whatever the extension says', async () => {
    const weather = createWeather()
    const outcomes = { forecast: { answer: () => ({ members: { secret: 1 } }) } }
    const client = await setup(weatherRouter({ ...weather, extension: { ...weather.extension, outcomes } }))
    const error = await client.callTool('plan').catch((thrown: unknown) => thrown as RpcError)
    expect(error).toBeInstanceOf(RpcError)
    expect(error).toMatchObject({ code: here ? -32021 : -32602, data: { requiredCapabilities: DECLARED } })
  })

  test('a tool option is asked before the tool runs', async () => {
    const client = await setup(weatherRouter(createWeather()))
    await expect(client.callTool('must')).rejects.toMatchObject({ code: here ? -32021 : -32602 })
    const known = await setup.another({ capabilities: DECLARED })
    const answer = known.callTool('must')
    if (here) expect((await answer).content).toEqual([{ type: 'text', text: 'ran' }])
    else await expect(answer).rejects.toMatchObject({ code: -32602 })
  })

  test('a tool in a mounted router answers with outcomes too', async () => {
    const weather = createWeather()
    const inner = weatherRouter(weather)
    const outer = createRouter({ name: 'outer', version: '1.0.0', extensions: [weather.extension] })
    outer.mount('inner', inner)
    const client = await setup(outer, { capabilities: DECLARED })
    const result = await client.callTool('inner_plan')
    if (here) expect(result).toMatchObject({ resultType: 'forecast', by: 'plan' })
    else expect(result.content).toHaveLength(1)
  })

  test('an outcome of an extension that is not there is masked, and reported', async () => {
    const router = createRouter({ name: 'test', version: '1.0.0' })
    router.tool('plan', {}, () => Extension.outcome(WEATHER, 'forecast', {}))
    const client = await setup(router)
    await expect(client.callTool('plan')).rejects.toMatchObject({ code: -32603 })
    expect(String(setup.expectErrors(1)[0])).toContain('give it to createRouter({ extensions })')
  })
})
