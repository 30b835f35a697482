import type { AllowList } from './allow-list.ts';

/**
 * Returns what may be shown of a line of the journal (`short-iso`): its time, its message if that is a plain sentence,
 * and the allowed fields. Null if nothing of it may be shown.
 */
export function logLine(line: string, list: AllowList): string | null {
  const [, time = '', text = ''] = /^(\d[\dT:+.Z-]+) \S+ [^:]*: (.*)$/.exec(line) ?? [];
  const { message, fields } = parsed(text);
  // Messages are constant. What else a process prints, such as a stack, has other characters.
  if (!/^[A-Z][A-Za-z ,;.'-]{1,120}$/.test(message)) return null;
  return `${time} ${message} ${JSON.stringify(list.show(fields))}`;
}

function parsed(text: string): { readonly message: string; readonly fields: object } {
  try {
    const { message, ...fields } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    return { message: String(message), fields };
  } catch {
    const [message = ''] = text.split(/ (?=[\w.-]+=)/, 1);
    const pairs = text.slice(message.length).matchAll(/ ([\w.-]+)=("(?:\\.|[^"\\])*"|\S+)/g);
    return {
      message,
      fields: Object.fromEntries([...pairs].map(([, key, value = '']) => [lastPart(key), valueOf(value)])),
    };
  }
}

/** The journal flattens objects: a field's own name follows the last dot, as in `failure.code`. */
function lastPart(key = ''): string {
  return key.slice(key.lastIndexOf('.') + 1);
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
