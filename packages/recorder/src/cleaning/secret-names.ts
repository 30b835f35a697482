/** Whether the name of a field, parameter or header denotes a secret. */
export function isSecretName(name: string): boolean {
  return (
    /secret|token|passw|passphrase|signature|credential|session[-_]?id|authorization|jwt|^(?:sig|key|pwd|pass)$/i.test(
      name,
    ) || /(?:api|access|auth|private|signing|stream|client|encryption)[-_]?key/i.test(name)
  );
}

/** Fields that contain the upload headers in the answer to a creation. */
export const uploadHeaderFields: ReadonlySet<string> = new Set([
  'upload_headers',
  'required_headers',
  'headers',
  'uploadHeaders',
  'requiredHeaders',
]);
