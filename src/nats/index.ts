export type { NatsClient, NatsMessage } from './client.js'
export { type NatsBackplaneOptions, natsBackplane } from './nats-backplane.js'
