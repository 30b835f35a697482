/**
 * An expectation is known by what it says, and that begins with its folder: `["/srv/in","*.mp4",…]`.
 *
 * @returns the key with another name of the folder; a key that is none stays as it is
 */
export function withFolder(key: string, named: (folder: string) => string): string {
  const [folder, ...rest] = partsOf(key);
  return typeof folder === 'string' ? JSON.stringify([named(folder), ...rest]) : key;
}

function partsOf(key: string): readonly unknown[] {
  try {
    const parts = JSON.parse(key) as unknown;
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}
