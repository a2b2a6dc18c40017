// node scripts/run-example.mjs examples/asking/main
import { serveShop } from './app.js'

const users = [
  { id: 'ada', token: 'ada-token' },
  { id: 'bo', token: 'bo-token' },
]
const secretKeyBase =
  process.env['SECRET_KEY_BASE'] ?? 'for this example only: sixty-four characters that everybody can read'
const { url } = await serveShop({ port: Number(process.env['PORT'] ?? 3001), users, secretKeyBase })

console.log(`The shop is served at ${url}/mcp (Ctrl+C ends); its users are 'Bearer ada-token' and 'Bearer bo-token'.
Sign in as one of them at ${url}/sign-in?as=ada before you open what connect_account leads to.`)
