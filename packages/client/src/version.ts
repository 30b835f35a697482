/** Version of this package, as in its package.json, which a bundle does not contain. */
export const clientVersion = '0.1.0';
