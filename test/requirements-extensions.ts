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
]
