import {
  type ClientCapabilities,
  createRouter,
  Extension,
  type ExtensionHost,
  field,
  McpError,
  Resource,
  type Router,
  Tool,
  withCache,
} from 'phantom-mcp'

declare module 'phantom-mcp' {
  interface ExtensionToolOptions {
    readonly forecast?: 'never' | 'required'
  }
}

export const WEATHER = 'com.example/weather'
/** What a client declares that knows the extension. */
export const DECLARED: ClientCapabilities = { extensions: { 'com.example/weather': {} } }
export const STATELESS = '2026-07-28'

export interface Weather {
  readonly extension: Extension
  /** Places that may be followed and told of. */
  readonly open: Set<string>
  readonly hosts: ExtensionHost[]
  /** Runs before each delivery. */
  beforeDelivery: (place: string) => Promise<void> | void
}

const PLACES = ['Bonn', 'Cork', 'Oslo'].map((name) => ({ name }))

/** An extension with a row of each kind, in 2026-07-28 only. */
export function createWeather(): Weather {
  const open = new Set(['Bonn', 'Oslo'])
  const hosts: ExtensionHost[] = []
  const degrees: Record<string, number> = { Bonn: 20, Oslo: 10 }
  const extension: Extension = {
    id: WEATHER,
    versions: ['2026-07-28'],
    settings: { unit: 'celsius' },
    requires: { extensions: { [WEATHER]: {} } },
    attach: (host) => void hosts.push(host),
    methods: {
      'weather/now': Extension.method(
        { params: { place: field.string({ required: true }) }, mirrors: 'place', cacheable: true },
        ({ place }) => {
          if (!Object.hasOwn(degrees, place)) throw new McpError('INVALID_PARAMS', `Unknown place: ${place}`)
          return withCache({ place, degrees: degrees[place] }, { ttlMs: 1000, scope: 'public' })
        },
      ),
      'weather/places': {
        paginated: true,
        requires: {},
        handler: (_params: unknown, session, host) => {
          const { entries, nextCursor } = host.page('places', PLACES, session.params['cursor'])
          return { places: entries.map(({ name }) => name), ...(nextCursor === undefined ? {} : { nextCursor }) }
        },
      },
      'weather/broken': { handler: () => 'a string' as never },
    },
    toolOptions: {
      forecast: {
        assert: (value, owner) => {
          if (value !== 'never' && value !== 'required') throw new TypeError(`${owner} must be 'never' or 'required'`)
        },
        admit: (value, session) => {
          if (value === 'required' && !Extension.supported(extension, session))
            throw new McpError('MISSING_CLIENT_CAPABILITY', 'Forecasts only', {
              data: { requiredCapabilities: DECLARED },
            })
        },
      },
    },
    outcomes: {
      forecast: {
        answer: (value: { readonly place: string }, { session, tool }) =>
          Extension.supported(extension, session)
            ? { members: { place: value.place, by: tool.name } }
            : { value: Tool.text(`No forecasts: ${value.place}`) },
      },
    },
    listens: {
      places: {
        authorize: (places) => places.filter((place) => open.has(place)),
        deliver: async (place) => {
          await weather.beforeDelivery(place)
          if (!open.has(place)) return undefined
          return { method: 'notifications/weather', params: { place }, last: place === 'Bonn' }
        },
      },
    },
    resources: {
      list: (cursor) => ({
        resources: [{ uri: `weather://${cursor ?? 'Bonn'}`, name: cursor ?? 'Bonn' }],
        nextCursor: cursor === undefined ? 'Oslo' : undefined,
      }),
      read: (uri) => (uri === 'weather://Bonn' ? Resource.text('sunny') : null),
    },
  }
  const weather: Weather = { extension, open, hosts, beforeDelivery: () => undefined }
  return weather
}

export function weatherRouter({ extension }: Weather, pageSize = 2): Router {
  const router = createRouter({ name: 'test', version: '1.0.0', pageSize, extensions: [extension] })
  router.tool('plan', {}, () => Extension.outcome(WEATHER, 'forecast', { place: 'Bonn' }))
  router.tool('must', { forecast: 'required' }, () => 'ran')
  router.resource('test://one', { name: 'one' }, () => '1')
  return router
}
