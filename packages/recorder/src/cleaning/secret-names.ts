/** Whether a field, a parameter or a header holds a secret, by its name. */
export function isSecretName(name: string): boolean {
  return (
    /secret|token|passw|passphrase|signature|credential|session[-_]?id|authorization|jwt|^(?:sig|key|pwd|pass)$/i.test(
      name,
    ) || /(?:api|access|auth|private|signing|stream|client|encryption)[-_]?key/i.test(name)
  );
}

/** Fields of the answer to a creation that hold the headers of the upload. */
export const uploadHeaderFields: ReadonlySet<string> = new Set([
  'upload_headers',
  'required_headers',
  'headers',
  'uploadHeaders',
  'requiredHeaders',
]);
