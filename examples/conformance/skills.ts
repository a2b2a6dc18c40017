import { withCache } from 'phantom-mcp'
import { Skill, type Skills, skills } from 'phantom-mcp/skills'

/** The fixture's skills: one with a subdirectory, which a scenario takes for it is listed first, and one whose contents change. */
export function createSkills(): Skills {
  return skills()
    .route('git-workflow', () =>
      withCache(
        Skill.build({
          frontmatter: { name: 'git-workflow', description: 'How changes are committed here.', license: 'MIT' },
          body: '# Git workflow\n\nSee references/commits.md for the form of messages.\n',
          files: {
            'references/commits.md': '# Commits\n\nOne idea per commit.\n',
            'scripts/check.sh': '#!/bin/sh\nexec git diff --check\n',
          },
        }),
        { ttlMs: 60_000, scope: 'public' },
      ),
    )
    .route('time-of-day', () =>
      Skill.build({
        frontmatter: { name: 'time-of-day', description: 'Says what time it is.' },
        body: () => `It is ${new Date().toISOString()}.\n`,
        resources: 'dynamic',
      }),
    )
}
