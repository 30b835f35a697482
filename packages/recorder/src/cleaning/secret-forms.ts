/** Minimum length of a form in characters. Shorter ones would match ordinary words by chance. */
export const shortestForm = 6;

/**
 * Returns the forms in which a service or a program may repeat a secret: unchanged, percent-encoded or decoded,
 * form-encoded, escaped for JSON or HTML, in hex, and inside base64.
 */
export function formsOf(secret: string): readonly string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const percent = [encodeURIComponent(secret.toWellFormed()), encodeURI(secret.toWellFormed()), everyByte(secret)];
  const lowerCase = percent.map((form) => form.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()));
  const hex = Buffer.from(secret).toString('hex');
  const inForm = [secret.replaceAll(' ', '+'), percent[0]?.replaceAll('%20', '+') ?? ''];
  const plain = [secret, decoded(secret), json, inHtml(secret)];
  const all = [...plain, ...percent, ...lowerCase, ...inForm, ...inBase64(secret), hex, hex.toUpperCase()];
  return [...new Set(all)].filter((form) => form.length >= shortestForm);
}

function decoded(secret: string): string {
  try {
    return decodeURIComponent(secret);
  } catch {
    return secret;
  }
}

function everyByte(secret: string): string {
  return [...Buffer.from(secret)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}

function inHtml(secret: string): string {
  const names: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return secret.replaceAll(/[&<>"]/g, (character) => names[character] ?? character);
}

/**
 * Returns a secret's forms inside base64. Base64 writes three bytes as four characters, so there are three forms, whose
 * ends depend on adjacent bytes.
 */
function inBase64(secret: string): readonly string[] {
  return [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)]);
    const whole = Math.floor(bytes.length / 3) * 4;
    const form = bytes.toString('base64').slice(offset === 0 ? 0 : 4, whole);
    return [form, form.replaceAll('+', '-').replaceAll('/', '_')];
  });
}
