import type { RecordedExchange } from '../recording.ts';
import { isSuccess, jsonOf, operationOf } from './telling-exchanges.ts';
import { longestLifeSeconds } from '../upload-addresses.ts';

/** A behaviour of services that the specification does not mention, so no switch of the sandbox names it. */
interface Form {
  /** The subject, phrased as the beginning of a sentence. */
  readonly about: string;
  /** What dropcast does with it. */
  readonly dropcast: string;
  /** Returns what an exchange shows; null if it shows nothing. */
  read(exchange: RecordedExchange): string | null;
}

/** A form and its observed values. */
export interface SeenForm {
  readonly name: FormName;
  /** Each value once. */
  readonly values: readonly { readonly value: string; readonly exchanges: readonly number[] }[];
}

export type FormName = keyof typeof forms;

/** The forms that a recording may show, in the order of an upload. */
export const forms = {
  upload_origin: {
    about: 'Origin of upload addresses',
    dropcast: 'sends files there, and the key only to the origin of the API and to `service.send_key_to`',
    read: ({ upload }) => upload?.origin ?? null,
  },
  address_life: {
    about: 'Seconds that an upload address is valid',
    dropcast: 'gets a new address once one has expired',
    read: (exchange) => {
      const seconds = exchange.upload?.life ?? lifeInAnswer(exchange);
      return seconds === null ? null : String(seconds);
    },
  },
  expect: {
    about: 'Expect: 100-continue of the PUT',
    dropcast: 'waits up to a second for the 100, and sends a host that refuses the header no further one',
    read: (exchange) => {
      if (!isUpload(exchange) || exchange.request.headers['expect'] === undefined) return null;
      if (exchange.answer?.status === 417) return 'refused';
      if (exchange.interim?.includes(100) === true) return 'answered';
      return isSuccess(exchange) ? 'ignored' : null;
    },
  },
  upload_key: {
    about: 'API key at the upload address',
    dropcast: 'sends it only to the origin of the API and to `service.send_key_to`',
    read: (exchange) => {
      const isKeyless = exchange.request.headers['authorization'] === undefined;
      return isUpload(exchange) && isKeyless && exchange.answer?.status === 401 ? 'wanted' : null;
    },
  },
  missing_header: {
    about: 'Header that the PUT lacks',
    dropcast: 'sends what `uploads.headers` names',
    read: (exchange) => (isUpload(exchange) && !isSuccess(exchange) ? headerInRefusal(exchange) : null),
  },
  resumption: {
    about: 'Resumption of uploads by the IETF draft',
    dropcast: 'ignores the offer',
    // A server offers it with the interim answer 104 (draft-ietf-httpbis-resumable-upload).
    read: (exchange) => (isUpload(exchange) && exchange.interim?.includes(104) === true ? '104' : null),
  },
  requests_per_hour: {
    about: 'Requests per hour',
    dropcast: 'sends at most `service.requests_per_hour`',
    read: ({ answer }) => hourlyIn(answer?.headers['ratelimit-policy'] ?? ''),
  },
} as const satisfies Readonly<Record<string, Form>>;

/** Returns the forms that the exchanges show, in the order of the table. */
export function seenForms(exchanges: readonly RecordedExchange[]): readonly SeenForm[] {
  return (Object.keys(forms) as FormName[]).flatMap((name) => {
    const values = new Map<string, number[]>();
    for (const exchange of exchanges) {
      const value = exchange.broken === undefined ? forms[name].read(exchange) : null;
      if (value !== null) values.set(value, [...(values.get(value) ?? []), exchange.number]);
    }
    const seen = [...values].map(([value, numbers]) => ({ value, exchanges: numbers }));
    return seen.length === 0 ? [] : [{ name, values: seen }];
  });
}

function isUpload(exchange: RecordedExchange): boolean {
  return operationOf(exchange)?.name === 'uploads.put';
}

/**
 * Reads `upload_expires_at`, `expires_in` and the like from the answer to a creation, at the top level or in `data`.
 */
function lifeInAnswer(exchange: RecordedExchange): number | null {
  if (operationOf(exchange)?.name !== 'videos.create' || !isSuccess(exchange)) return null;
  const json = jsonOf(exchange);
  const data = typeof json === 'object' && json !== null && 'data' in json ? json.data : json;
  if (typeof data !== 'object' || data === null) return null;
  const [name = '', value] = Object.entries(data).find(([name]) => /expir(?:es|y|ation)/i.test(name)) ?? [];
  const atMs = Date.parse(exchange.at);
  const untilMs = typeof value === 'string' ? Date.parse(value) : Number(value) * 1000;
  const seconds = /in$|seconds$/i.test(name) ? Number(value) : (untilMs - atMs) / 1000;
  return seconds > 0 && seconds <= longestLifeSeconds ? Math.round(seconds) : null;
}

/** Reads the name of the missing header from the refusal of an object store (Azure: `MissingRequiredHeader`). */
function headerInRefusal({ answer }: RecordedExchange): string | null {
  const text = answer?.body !== undefined && 'text' in answer.body ? answer.body.text : '';
  return /<HeaderName>\s*([\w-]{1,100})\s*<\/HeaderName>/.exec(text.slice(0, 10_000))?.[1]?.toLowerCase() ?? null;
}

/**
 * Reads the limit of an hour from `RateLimit-Policy`: `"hour";q=1000;w=3600`, or `1000;w=3600` in drafts before the
 * eighth (draft-ietf-httpapi-ratelimit-headers).
 */
function hourlyIn(policies: string): string | null {
  const hourly = policies
    .slice(0, 1000)
    .split(',')
    .find((policy) => /;\s*w=3600\s*(?:;|$)/.test(policy));
  return /(?:;\s*q=|^\s*)([1-9]\d{0,8})\b/.exec(hourly ?? '')?.[1] ?? null;
}
