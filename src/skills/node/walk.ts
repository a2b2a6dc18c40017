import { constants, type Dirent } from 'node:fs'
import { lstat, open, readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { MAX_BYTES, MAX_FILES } from '../skill.js'
import { isSegment } from '../uri.js'

/** A file below a directory, with what tells whether it has changed. */
export interface FoundFile {
  readonly path: string
  readonly size: number
  readonly stamp: string
  /** Long enough unchanged: the next change has another stamp for sure. */
  readonly settled: boolean
}

const MAX_DEPTH = 32
/** Two changes within a tick of the file system's clock, two seconds for the coarsest, have the same time. */
const SETTLED_MS = 2_000

/**
 * The files below a directory, by their path with slashes. What begins with a dot is left out. `root` is a real path.
 *
 * @throws TypeError for what cannot be served: a symbolic link, a device, a name that no URI has, too many or too large files.
 */
export async function walk(owner: string, root: string): Promise<readonly FoundFile[]> {
  const found: FoundFile[] = []
  // Directories are added while the list is gone through.
  const directories: (readonly string[])[] = [[]]
  let bytes = 0
  for (const below of directories) {
    for (const entry of await readdir(join(root, ...below), { withFileTypes: true })) {
      if (entry.name.startsWith('.')) continue
      const path = [...below, entry.name]
      assertServable(owner, path, entry)
      if (entry.isDirectory()) directories.push(path)
      else found.push(await foundFile(root, path))
      bytes += entry.isDirectory() ? 0 : (found.at(-1)?.size ?? 0)
      assertRoom(owner, { entries: found.length + directories.length, bytes })
    }
  }
  return found
}

/** @throws TypeError for what no URI leads to, or should. */
function assertServable(owner: string, path: readonly string[], entry: Dirent): void {
  const shown = JSON.stringify(path.join('/'))
  // U+FFFD stands for bytes that are no UTF-8: the file could not be found under this name.
  if (!isSegment(entry.name) || entry.name.includes('\ufffd'))
    throw new TypeError(`${owner}: no URI can have the name ${shown}`)
  if (path.length > MAX_DEPTH) throw new TypeError(`${owner}: ${shown} is more than ${MAX_DEPTH} directories deep`)
  if (!entry.isFile() && !entry.isDirectory())
    throw new TypeError(`${owner}: ${shown} is a link or a device, and only files are served`)
}

function assertRoom(owner: string, { entries, bytes }: { readonly entries: number; readonly bytes: number }): void {
  if (entries > 2 * MAX_FILES)
    throw new TypeError(`${owner}: it has more than ${MAX_FILES} files, or as many directories`)
  if (bytes > MAX_BYTES) throw new TypeError(`${owner}: its files have more than ${MAX_BYTES} bytes together`)
}

async function foundFile(root: string, path: readonly string[]): Promise<FoundFile> {
  const { size, ino, mtimeNs, ctimeNs } = await lstat(join(root, ...path), { bigint: true })
  return {
    path: path.join('/'),
    size: Number(size),
    stamp: [size, ino, mtimeNs, ctimeNs].join('-'),
    settled: Date.now() - Number(ctimeNs / 1_000_000n) > SETTLED_MS,
  }
}

/**
 * The bytes of a file below `root`, which is a real path. A link that has come since the directory was looked at is not followed.
 *
 * @throws TypeError for what is no file there, or has grown beyond what is served.
 */
export async function readBelow(owner: string, root: string, path: string): Promise<Uint8Array> {
  const whole = join(root, ...path.split('/'))
  // Windows has no O_NOFOLLOW; the real path is looked at as well.
  const file = await open(whole, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  try {
    const stat = await file.stat()
    if (!stat.isFile() || (await realpath(whole)) !== whole)
      throw new TypeError(`${owner}: '${path}' is no file of the skill any more`)
    if (stat.size > MAX_BYTES) throw new TypeError(`${owner}: '${path}' has more than ${MAX_BYTES} bytes`)
    const bytes = new Uint8Array(stat.size)
    let length = 0
    while (length < bytes.byteLength) {
      const { bytesRead } = await file.read(bytes, length, bytes.byteLength - length, length)
      if (bytesRead === 0) break
      length += bytesRead
    }
    return bytes.subarray(0, length)
  } finally {
    await file.close()
  }
}
