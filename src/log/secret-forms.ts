/**
 * Every spelling under which a secret may turn up: as it is, percent-encoded, form-encoded, JSON-escaped, base64 and base64url.
 * Longest first, so that no form leaves the rest of a longer one behind.
 */
export function secretForms(value: string): readonly string[] {
  const forms = new Set([value, ...percentForms(value), JSON.stringify(value).slice(1, -1), ...base64Forms(value)]);
  return [...forms].toSorted((a, b) => b.length - a.length);
}

function percentForms(value: string): readonly string[] {
  const component = encodeURIComponent(value.toWellFormed());
  const strict = component.replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const form = new URLSearchParams({ v: value }).toString().slice('v='.length);
  return [component, strict, form].flatMap((text) => [
    text,
    text.replaceAll(/%[\dA-F]{2}/g, (hex) => hex.toLowerCase()),
  ]);
}

/**
 * Base64 packs 3 bytes into 4 characters, so a value inside a longer text (`user:key`) is spelled in one of three ways,
 * by where it starts. Each is the run of characters that depend on the value alone.
 */
function base64Forms(value: string): readonly string[] {
  return [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(value)]);
    const first = Math.ceil((offset * 8) / 6);
    const last = Math.floor((bytes.length * 8) / 6);
    const core = bytes.toString('base64').slice(first, last);
    return [core, core.replaceAll('+', '-').replaceAll('/', '_')];
  });
}
