import type { Certificate } from './http/server.ts';

/** The certificate in the folder, made if there is none or if it ends soon. */
export async function certificateIn(_folder: string): Promise<Certificate & { readonly caPath: string }> {
  throw new Error('not there yet');
}
