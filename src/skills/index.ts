export type { Frontmatter } from './frontmatter.js'
export type { SkillHandler, SkillParams } from './route.js'
export {
  Skill,
  type SkillBuilders,
  type SkillContent,
  type SkillFile,
  type SkillList,
  type SkillMemory,
  type SkillOptions,
  type SkillSource,
} from './skill.js'
export { type Skills, type SkillsOptions, skills } from './skills.js'
