import type { Requirement } from './requirement.js'

/** What the extensions that come with the package have to do. */
export const extensionRequirements: readonly Requirement[] = [
  // Skills
  {
    id: 'skills.declared',
    source: 'io.modelcontextprotocol/skills, Capability',
    behaviour: 'Skills are declared with directoryRead, and resources with them.',
  },
  {
    id: 'skills.list',
    source: 'io.modelcontextprotocol/skills, skills/list',
    behaviour: 'Each entry has the front matter and every file with digest and size.',
  },
  {
    id: 'skills.get',
    source: 'io.modelcontextprotocol/skills, skills/get',
    behaviour: 'Every served skill is given, in the shape of its entry in the list.',
  },
  {
    id: 'skills.read',
    source: 'io.modelcontextprotocol/skills, resources/read',
    behaviour: 'Files are served byte for byte as they were published, each at one URI.',
  },
  {
    id: 'skills.directory',
    source: 'io.modelcontextprotocol/skills, resources/directory/read',
    behaviour: 'A directory has its direct children; what is no directory is -32602.',
  },
  {
    id: 'skills.unknown',
    source: 'io.modelcontextprotocol/skills, Errors',
    behaviour: 'A skill that is not served is -32602.',
  },
  {
    id: 'skills.resources',
    source: 'io.modelcontextprotocol/skills, SKILL.md as a resource',
    behaviour: 'SKILL.md files are resources with name and description of their front matter.',
  },
  {
    id: 'skills.inside',
    source: 'phantom: no path escapes; users: a skill is a directory',
    behaviour: 'No request reads a file outside of a skill.',
  },
  {
    id: 'skills.followed',
    source: 'users: whoever reads a file is told when it changes',
    behaviour: 'Files of skills are followed like other resources, by those who may.',
  },
  // Tasks
  {
    id: 'tasks.created',
    source: 'io.modelcontextprotocol/tasks, CreateTaskResult',
    behaviour: 'A task is answered flat, with resultType task, to requests that declare the extension.',
  },
  {
    id: 'tasks.undeclared',
    source: 'io.modelcontextprotocol/tasks, Capability',
    behaviour: 'Whoever does not declare it gets no task, and -32021 where there is no other way.',
  },
  {
    id: 'tasks.declared',
    source: 'io.modelcontextprotocol/tasks, Capability',
    behaviour: 'The extension is declared; methods and capability of 2025-11-25 are not there.',
  },
  {
    id: 'tasks.get',
    source: 'io.modelcontextprotocol/tasks, tasks/get',
    behaviour: 'Each status has what belongs to it, with resultType complete.',
    versions: ['2026-07-28'],
  },
  {
    id: 'tasks.unknown',
    source: 'io.modelcontextprotocol/tasks, Errors',
    behaviour: 'A task that is unknown, hidden or expired is -32602.',
    versions: ['2026-07-28'],
  },
  {
    id: 'tasks.update',
    source: 'io.modelcontextprotocol/tasks, tasks/update',
    behaviour: 'Answers to open questions are taken, others ignored; all are acknowledged.',
    versions: ['2026-07-28'],
  },
  {
    id: 'tasks.cancel',
    source: 'io.modelcontextprotocol/tasks, tasks/cancel',
    behaviour: 'A cancellation is acknowledged, also of a task that is over.',
    versions: ['2026-07-28'],
  },
  {
    id: 'tasks.header',
    source: 'io.modelcontextprotocol/tasks, HTTP',
    behaviour: 'Mcp-Name repeats the id of the task.',
    versions: ['2026-07-28'],
    transports: ['node', 'fetch'],
  },
  {
    id: 'tasks.listen',
    source: 'io.modelcontextprotocol/tasks, notifications/tasks',
    behaviour: 'Followers are told the whole task as they may see it now, until it is over.',
    versions: ['2026-07-28'],
  },
  {
    id: 'tasks.durable',
    source: 'io.modelcontextprotocol/tasks, CreateTaskResult',
    behaviour: 'A task can be asked for as soon as its call is answered, and has an id that nobody can guess.',
    versions: ['2026-07-28'],
  },
  {
    id: 'tasks.legacy',
    source: 'io.modelcontextprotocol/tasks, Capability',
    behaviour: 'The capability `tasks` of 2025-11-25 is no declaration of the extension.',
    versions: ['2026-07-28'],
  },
  {
    id: 'tasks.rounds',
    source: 'io.modelcontextprotocol/tasks, Interaction with MRTR',
    behaviour: 'Questions of the call come before the task, and have keys of their own.',
    versions: ['2026-07-28'],
  },
  {
    id: 'tasks.open',
    source: 'io.modelcontextprotocol/tasks, tasks/get',
    behaviour: 'Every question that is open is told each time; no key is used twice.',
    versions: ['2026-07-28'],
  },
  {
    id: 'tasks.transitions',
    source: 'io.modelcontextprotocol/tasks, Task Status',
    behaviour: 'A task goes between working and input_required, and ends once; what is final stays.',
    versions: ['2026-07-28'],
  },
  {
    id: 'tasks.failed',
    source: 'io.modelcontextprotocol/tasks, Task Status',
    behaviour: 'Errors end a task failed with a message; a failure for the model ends it completed.',
    versions: ['2026-07-28'],
  },
  {
    id: 'tasks.cancelled',
    source: 'io.modelcontextprotocol/tasks, tasks/cancel',
    behaviour: 'Only tasks/cancel cancels a task, and not the cancellation of the call that made it.',
    versions: ['2026-07-28'],
  },
  {
    id: 'tasks.expired',
    source: 'io.modelcontextprotocol/tasks, Task TTL',
    behaviour: 'A task whose time is over is as unknown as one that never was.',
    versions: ['2026-07-28'],
  },
  {
    id: 'tasks.quiet',
    source: 'io.modelcontextprotocol/tasks, Notifications',
    behaviour: 'Neither progress nor logs of a task reach those who listen to it.',
    versions: ['2026-07-28'],
  },
  {
    id: 'tasks.callers',
    source: 'io.modelcontextprotocol/tasks, Security',
    behaviour: 'A task is there for the caller that made it, and for nobody else.',
    versions: ['2026-07-28'],
  },
]
