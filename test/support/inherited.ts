/** What a process under test has of this one's environment: the compile cache is that of the whole run (`global-setup.ts`). */
export function inherited(): NodeJS.ProcessEnv {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  return { PATH, HOME, NODE_COMPILE_CACHE };
}
