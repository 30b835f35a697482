import type { FileVersion } from '../../../src/pipeline/file/file-version.ts';
import type { WorldState } from './world-state.ts';

/** What people do to the file at any moment. */
export const deeds = [
  'deletes',
  'overwrites',
  'overwrites and sets the time back',
  'appends',
  'replaces',
  'recreates with the same bytes',
  'touches',
  'changes the mode',
  'renames',
] as const;

export type Deed = (typeof deeds)[number];

export function isDeed(fate: string): fate is Deed {
  return deeds.some((deed) => deed === fate);
}

/** Does it to the first file there is. */
export function act(state: WorldState, deed: Deed): void {
  const [path] = Object.keys(state.files);
  const file = path === undefined ? undefined : state.files[path];
  if (path === undefined || file === undefined) return;
  const { version, content } = file;
  const at = `t#${(state.count += 1)}`;
  const put = (change: Partial<FileVersion>, bytes = content): void => {
    state.files[path] = { version: { ...version, ctimeNs: at, ...change }, content: bytes };
  };
  const other = `content#${state.count}`;
  switch (deed) {
    case 'deletes':
      delete state.files[path];
      return;
    case 'overwrites':
      return put({ mtimeNs: at }, other);
    case 'overwrites and sets the time back':
      return put({}, other);
    case 'appends':
      return put({ mtimeNs: at, size: version.size + 1 }, other);
    case 'replaces':
      return put({ mtimeNs: at, ino: at, birthtimeNs: at }, other);
    case 'recreates with the same bytes':
      return put({ mtimeNs: at, ino: at, birthtimeNs: at });
    case 'touches':
      return put({ mtimeNs: at });
    case 'changes the mode':
      return put({});
    case 'renames':
      put({});
      state.files[`renamed-${path}`] = state.files[path] ?? file;
      delete state.files[path];
      return;
    default:
      deed satisfies never;
  }
}
