export type { TaskServer, Tasks } from './extension.js'
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
export { type StoredTaskOptions, type StoredTasks, type TaskCallbacks, tasks } from './tasks.js'
export type { RunningTask, TaskWork } from './work.js'
