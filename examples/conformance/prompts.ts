import { Prompt, type Router } from 'phantom-mcp'
import { PIXEL } from './media.js'

/** The fixture's prompts, but for the one that asks its client. */
export function addPrompts(router: Router): void {
  const words = ['test', 'testing', 'tested', 'hello', 'help']
  const complete = (value: string): string[] => words.filter((word) => word.startsWith(value))
  router.prompt(
    'test_simple_prompt',
    { description: 'Has no arguments.' },
    () => 'This is a simple prompt for testing.',
  )
  router.prompt(
    'test_prompt_with_arguments',
    {
      description: 'Repeats its arguments.',
      arguments: {
        arg1: { required: true, description: 'First test argument', complete },
        arg2: { required: true, description: 'Second test argument', complete },
      },
    },
    ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
  )
  router.prompt(
    'test_prompt_with_embedded_resource',
    {
      description: 'Holds a resource.',
      arguments: { resourceUri: { required: true, description: 'URI of the resource to embed' } },
    },
    ({ resourceUri }) =>
      Prompt.response([
        Prompt.user(
          Prompt.embeddedResource({ uri: resourceUri, mimeType: 'text/plain', text: 'Embedded resource content.' }),
        ),
        Prompt.user('Please process the embedded resource above.'),
      ]),
  )
  router.prompt('test_prompt_with_image', { description: 'Holds an image.' }, () =>
    Prompt.response([Prompt.user(Prompt.image(PIXEL, 'image/png')), Prompt.user('Please analyze the image above.')]),
  )
}
