export { type DirectoryOptions, fromDirectory } from './from-directory.js'
