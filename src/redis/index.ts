export { type RedisBackplaneOptions, redisBackplane } from './redis-backplane.js'
