export type { IoredisClient, NodeRedisClient, RedisClient } from './clients.js'
export { type RedisBackplaneOptions, redisBackplane } from './redis-backplane.js'
