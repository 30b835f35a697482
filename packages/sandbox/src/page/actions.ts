import { Hono, type Context } from 'hono';
import { createAdminRoutes } from '../admin/routes.ts';
import { ApiError, errorResponse, type ErrorCode } from '../http/api-error.ts';
import { createApi } from '../http/api.ts';
import type { Services } from '../services.ts';
import { activeOf, presets } from './fault-presets.ts';
import { randomUUID } from 'node:crypto';

/** A request to the API or the admin side. */
interface Question {
  /** `POST /_sandbox/keys`, for example. */
  readonly asks: string;
  readonly body?: unknown;
  /** The body exactly as sent, instead of `body`. */
  readonly content?: string;
}

/** The requests behind a form, and the address that the browser goes to afterwards. */
interface Action {
  readonly path: string;
  readonly questions: (form: URLSearchParams, part: (name: string) => string) => readonly Question[];
  readonly leadsTo: string | ((answer: unknown) => string);
}

/** Carries out an action. @returns the address that shows the result @throws ApiError if the service refuses */
type Act = (context: Context, action: Action) => Promise<string>;

/**
 * Lets the page make changes through the operations of the API and the admin side, like any other client, but without
 * key or rate limit. The requests stay within the process, so no fault affects them and the journal does not record
 * them.
 */
export function createAct(services: Services): Act {
  const service = new Hono().route('/', createApi(services)).route('/', createAdminRoutes(services));
  service.onError((error) => errorResponse(error, services.onDefect));
  const headers = { Authorization: `Bearer ${services.adminToken}`, 'Content-Type': 'application/json' };
  const ask = async ({ asks, body, content }: Question) => {
    const [method = '', path = ''] = asks.split(' ');
    const sent = content ?? (body === undefined ? null : JSON.stringify(body));
    const text = await (await service.request(path, { method, headers, body: sent })).text();
    const { data, error } = (text === '' ? {} : JSON.parse(text)) as Answer;
    if (error) throw new ApiError(error.code, error.message);
    return data;
  };
  return async (context, { questions, leadsTo }) => {
    const part = (name: string) => encodeURIComponent(context.req.param(name) ?? '');
    let answer: unknown;
    for (const question of questions(await formOf(context), part))
      answer = await ask({ ...question, asks: filled(question.asks, part) });
    return typeof leadsTo === 'string' ? filled(leadsTo, part) : leadsTo(answer);
  };
}

interface Answer {
  readonly data?: unknown;
  readonly error?: { readonly code: ErrorCode; readonly message: string };
}

/** Returns the fields of a form and of its address; a file counts as its text. */
async function formOf({ req }: Context): Promise<URLSearchParams> {
  const form = new URLSearchParams(new URL(req.url).search);
  const isMultipart = req.header('content-type')?.startsWith('multipart/form-data') === true;
  const fields = isMultipart ? await req.formData().catch(() => []) : new URLSearchParams(await req.text());
  for (const [name, value] of fields) form.append(name, typeof value === 'string' ? value : await value.text());
  return form;
}

/** Fills in path parameters, such as `:id`. */
function filled(path: string, part: (name: string) => string): string {
  return path.replaceAll(/:([a-z]+)/g, (_parameter, name: string) => part(name));
}

/** Returns the actions behind every form on the page. */
export function actions({ faults }: Pick<Services, 'faults'>, shownOnce: ShownOnce): Action[] {
  return [
    action('/_page/videos', 'POST /_sandbox/videos', '/_page/videos', (form) => ({
      ...given(form, 'title', 'channel_id'),
      ...(textIn(form, 'duration') && { duration: numberIn(form, 'duration') }),
    })),
    action('/_page/videos/:id/fail', 'POST /_sandbox/videos/:id/fail', VIDEO, (form) => ({
      code: textIn(form, 'code') || FAILURE.code,
      message: textIn(form, 'message') || FAILURE.message,
    })),
    action('/_page/videos/:id/delete', 'DELETE /v1/videos/:id', '/_page/videos'),
    action('/_page/videos/:id/plays', 'POST /_sandbox/plays', VIDEO, (form, part) => [
      {
        video_id: decodeURIComponent(part('id')),
        seconds: numberIn(form, 'seconds'),
        ...given(form, 'viewer'),
        complete: isOn(form, 'complete'),
      },
    ]),
    action('/_page/channels', 'POST /_sandbox/channels', '/_page/channels', (form) =>
      given(form, 'name', 'description'),
    ),
    action('/_page/channels/:id/delete', 'DELETE /_sandbox/channels/:id', '/_page/channels'),
    action('/_page/feeds', 'POST /_sandbox/feeds', '/_page/feeds', (form) => given(form, 'name', 'type', 'channel_id')),
    action('/_page/feeds/:id/delete', 'DELETE /_sandbox/feeds/:id', '/_page/feeds'),
    action('/_page/feeds/:id/publish', 'POST /v1/feeds/:id/publish', '/_page/feeds/:id'),
    action(
      '/_page/keys',
      'POST /_sandbox/keys',
      (answer) => `/_page/keys?new=${shownOnce.put((answer as { key: string }).key)}`,
      (form) => ({ name: textIn(form, 'name'), read_only: isOn(form, 'read_only') }),
    ),
    action('/_page/keys/:id/revoke', 'DELETE /_sandbox/keys/:id', '/_page/keys'),
    action(
      '/_page/webhooks',
      'POST /_sandbox/webhooks',
      (answer) => `/_page/webhooks?new=${shownOnce.put((answer as { secret: string }).secret)}`,
      (form) => ({ url: textIn(form, 'url'), events: form.getAll('events') }),
    ),
    action('/_page/webhooks/:id/delete', 'DELETE /_sandbox/webhooks/:id', '/_page/webhooks'),
    action(
      '/_page/webhooks/:id/deliveries/:delivery/redeliver',
      'POST /_sandbox/webhooks/:id/deliveries/:delivery/redeliver',
      '/_page/webhooks#:id',
    ),
    action('/_page/faults/replace', 'PUT /_sandbox/faults', FAULTS, (form) => jsonIn(textIn(form, 'rules'))),
    action('/_page/faults/clear', 'DELETE /_sandbox/faults', FAULTS),
    action('/_page/faults/:id/remove', 'DELETE /_sandbox/faults/:id', FAULTS),
    {
      path: '/_page/faults/presets/:name',
      questions: (form, part) => switchOf(part('name'), isOn(form, 'on'), faults),
      leadsTo: FAULTS,
    },
    action('/_page/clock', 'PUT /_sandbox/clock', CONTROLS, (form) => ({ frozen: isOn(form, 'frozen') })),
    action('/_page/clock/set', 'PUT /_sandbox/clock', CONTROLS, (form) => ({ now: textIn(form, 'now') })),
    action('/_page/clock/advance', 'POST /_sandbox/clock/advance', CONTROLS, (form) => ({ by: textIn(form, 'by') })),
    action('/_page/limit', 'PUT /_sandbox/rate-limit', CONTROLS, (form) => ({
      requests_per_hour: numberIn(form, 'requests_per_hour'),
    })),
    action('/_page/profile', 'PUT /_sandbox/profile', CONTROLS, (form) => ({ profile: textIn(form, 'profile') })),
    action('/_page/profile/switch', 'POST /_sandbox/profile/switches', CONTROLS, (form) =>
      Object.fromEntries([textIn(form, 'switch').split('=', 2)]),
    ),
    {
      path: '/_page/snapshots',
      // An empty name would address another path. A blank one makes the admin side refuse and explain what a valid name
      // is.
      questions: (form) => [{ asks: `PUT /_sandbox/snapshots/${encodeURIComponent(textIn(form, 'name') || ' ')}` }],
      leadsTo: CONTROLS,
    },
    action('/_page/snapshots/:name/restore', 'POST /_sandbox/snapshots/:name/restore', '/'),
    action('/_page/snapshots/:name/delete', 'DELETE /_sandbox/snapshots/:name', CONTROLS),
    action('/_page/seed', 'POST /_sandbox/seed', '/', (form) => ({
      videos: numberIn(form, 'videos'),
      days: numberIn(form, 'days'),
    })),
    action('/_page/reset', 'POST /_sandbox/reset', '/'),
    action('/_page/requests/clear', 'DELETE /_sandbox/requests', '/_page/requests'),
  ];
}

const VIDEO = '/_page/videos/:id';
const FAULTS = '/_page/faults';
const CONTROLS = '/_page/controls';

/** Failure of a video that is set to failed by hand, unless the form states another one. */
export const FAILURE = { code: 'failed_by_hand', message: "Set to failed on the sandbox's page." };

type BodyOf = (form: URLSearchParams, part: (name: string) => string) => unknown;

function action(path: string, asks: string, leadsTo: Action['leadsTo'], bodyOf?: BodyOf): Action {
  return { path, leadsTo, questions: (form, part) => [{ asks, body: bodyOf?.(form, part) }] };
}

/** Switches a preset's faults on or off. @throws ApiError 404 */
function switchOf(name: string, isWanted: boolean, faults: Services['faults']): Question[] {
  const preset = presets.find((each) => each.name === name);
  if (!preset) throw new ApiError('not_found', 'There is no such preset.');
  const active = activeOf(preset, faults);
  if (!isWanted) return active.map(({ id }) => ({ asks: `DELETE /_sandbox/faults/${id}` }));
  return active.length > 0 ? [] : [{ asks: 'POST /_sandbox/faults', body: preset.rule }];
}

/** Imports the file of an export, which the admin side checks. */
export const importFile: Action = {
  path: '/_page/import',
  questions: (form) => [{ asks: 'POST /_sandbox/import', content: textIn(form, 'document') }],
  leadsTo: '/',
};

function textIn(form: URLSearchParams, name: string): string {
  return form.get(name) ?? '';
}

/** Returns NaN for an empty field, which the admin side refuses. */
function numberIn(form: URLSearchParams, name: string): number {
  return Number(textIn(form, name) || Number.NaN);
}

function isOn(form: URLSearchParams, name: string): boolean {
  return textIn(form, name) === 'true';
}

/** Returns the named fields that are filled in. */
function given(form: URLSearchParams, ...names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, textIn(form, name)]).filter(([, value]) => value !== ''));
}

/** @throws ApiError 400 if the text is not JSON */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new ApiError('bad_request', 'This is not valid JSON.');
  }
}

/** Carries a secret across a form's redirect to the view that shows it, once. */
export class ShownOnce {
  readonly #waiting = new Map<string, string>();

  /** Stores a secret. @returns the name for `take` */
  put(secret: string): string {
    const name = randomUUID();
    this.#waiting.set(name, secret);
    setTimeout(() => this.#waiting.delete(name), TIMEOUT_MS).unref();
    return name;
  }

  take(name: string | undefined): string | undefined {
    const secret = this.#waiting.get(name ?? '');
    this.#waiting.delete(name ?? '');
    return secret;
  }
}

/** Lifetime of a secret whose redirect the browser never follows. */
const TIMEOUT_MS = 60_000;
