export { type TaskCallbacks, type TaskServer, type Tasks, tasks } from './extension.js'
export {
  Task,
  type TaskBuilders,
  type TaskChange,
  type TaskFailure,
  type TaskInputRequest,
  type TaskOptions,
  type TaskStatus,
  type WireRequest,
} from './task.js'
