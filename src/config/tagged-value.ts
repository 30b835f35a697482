export const SECRET_TAGS = ['env', 'file', 'credential'] as const;

export type SecretTag = (typeof SECRET_TAGS)[number];

/** `!env NAME`, `!file PATH` or `!credential NAME`: says where a secret is, without being it. */
export class TaggedValue {
  readonly tag: SecretTag;
  readonly argument: string;

  constructor(tag: SecretTag, argument: string) {
    this.tag = tag;
    this.argument = argument;
  }
}
