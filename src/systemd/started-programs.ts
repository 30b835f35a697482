import { open, realpath } from 'node:fs/promises';

/** `#!` and the path of an interpreter (execve(2)). */
const SHEBANG = /^#![ \t]*([^\s]+)/;

/**
 * What must be executable so that a program can be started: the file itself, and the interpreter that its first line names. What the
 * program starts in turn is not known.
 */
export async function startedPrograms(program: string): Promise<readonly string[]> {
  const interpreter = SHEBANG.exec(await firstBytes(program))?.[1];
  const real = await Promise.all(
    [program, interpreter].map((path) => (path === undefined ? null : realpath(path).catch(() => path))),
  );
  return [...new Set([program, ...real.filter((path) => path !== null)])];
}

async function firstBytes(path: string): Promise<string> {
  try {
    await using file = await open(path);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(256), 0, 256, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } catch {
    return '';
  }
}
