export { type NatsBackplaneOptions, natsBackplane } from './nats-backplane.js'
