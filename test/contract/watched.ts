import { checkExchange } from './contract.ts';

/** Judges every exchange of a sandbox, to be handed to it as `onExchange`, and says at the end what was against the contract. */
export class ContractWatch {
  readonly #problems: string[] = [];
  #exchanges = 0;

  get exchanges(): number {
    return this.#exchanges;
  }

  readonly onExchange = async (request: Request, response: Response): Promise<void> => {
    this.#exchanges += 1;
    const requestBody = await request.text();
    const exchange = { method: request.method, url: request.url, requestHeaders: request.headers, requestBody };
    const { status, headers: responseHeaders } = response;
    const responseBody = await response.text();
    this.#problems.push(...checkExchange({ ...exchange, status, responseHeaders, responseBody }));
  };

  /** @throws Error that names everything that was against the contract */
  assertKept(): void {
    if (this.#problems.length === 0) return;
    const different = [...new Set(this.#problems)];
    throw new Error(`against openapi.yaml:\n  ${different.slice(0, MAX_SHOWN).join('\n  ')}`);
  }
}

const MAX_SHOWN = 20;
