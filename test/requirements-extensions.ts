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
]
