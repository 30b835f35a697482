/** Whether a field, a parameter or a header holds a secret, by its name. */
export function isSecretName(name: string): boolean {
  return /secret|token|passw|signature|credential|(?:api|access|auth)[-_]?key|authorization|^(?:sig|key)$/i.test(name);
}
