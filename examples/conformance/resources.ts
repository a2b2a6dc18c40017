import { Resource, type Router } from 'phantom-mcp'
import { PIXEL } from './media.js'

/** The fixture's resources and its template. */
export function addResources(router: Router): void {
  router.resource(
    'test://static-text',
    { name: 'static-text', description: 'Text that never changes.', mimeType: 'text/plain' },
    () => 'This is the content of the static text resource.',
  )
  router.resource(
    'test://static-binary',
    { name: 'static-binary', description: 'An image that never changes.', mimeType: 'image/png' },
    () => Resource.blob(PIXEL),
  )
  router.resource(
    'test://watched-resource',
    { name: 'watched-resource', description: 'Text to subscribe to.', mimeType: 'text/plain' },
    () => 'Watched resource content',
  )
  router.resource(
    'test://template/:id/data',
    { name: 'template', description: 'Data by id.', mimeType: 'application/json' },
    ({ id }) => Resource.text({ id, templateTest: true, data: `Data for ID: ${id}` }),
  )
}
