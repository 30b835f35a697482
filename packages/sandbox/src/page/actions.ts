import type { Services } from '../services.ts';
import type { Action, Question } from './ask-service.ts';
import { ruleIn } from './fault-form.ts';
import { aboutMakers } from './maker-actions.ts';
import { activeOf, presets } from './fault-presets.ts';
import { ApiError } from '../http/api-error.ts';
import type { ShownOnce } from './shown-once.ts';

/** Returns the actions behind every form on the page. */
export function actions({ faults }: Pick<Services, 'faults'>, shownOnce: ShownOnce): Action[] {
  return [
    ...aboutVideos,
    ...aboutKeys(shownOnce),
    ...aboutWebhooks(shownOnce),
    ...aboutFaults(faults),
    ...aboutMakers,
    ...aboutAll,
  ];
}

const aboutVideos: readonly Action[] = [
  {
    path: '/_page/videos/:id/fail',
    asks: ({ form, part }) => ({
      method: 'POST',
      path: `/_sandbox/videos/${part('id')}/fail`,
      body: { code: form.get('code') || FAILURE.code, message: form.get('message') || FAILURE.message },
    }),
    leadsTo: (_answer, { part }) => `/_page/videos/${part('id')}`,
  },
  {
    path: '/_page/videos/:id/delete',
    asks: ({ part }) => ({ method: 'DELETE', path: `/v1/videos/${part('id')}` }),
    leadsTo: '/_page/videos',
  },
  {
    path: '/_page/feeds/:id/publish',
    asks: ({ part }) => ({ method: 'POST', path: `/v1/feeds/${part('id')}/publish` }),
    leadsTo: (_answer, { part }) => `/_page/feeds/${part('id')}`,
  },
];

/** Failure of a video that is set to failed by hand, unless the form states another one. */
export const FAILURE = { code: 'failed_by_hand', message: "Set to failed on the sandbox's page." };

function aboutKeys(shownOnce: ShownOnce): Action[] {
  return [
    {
      path: '/_page/keys',
      asks: ({ form }) => ({
        method: 'POST',
        path: '/_sandbox/keys',
        body: { name: form.get('name') ?? '', read_only: form.get('read_only') === 'true' },
      }),
      leadsTo: (answer) => `/_page/keys?new=${shownOnce.put((answer as { key: string }).key)}`,
    },
    {
      path: '/_page/keys/:id/revoke',
      asks: ({ part }) => ({ method: 'DELETE', path: `/_sandbox/keys/${part('id')}` }),
      leadsTo: '/_page/keys',
    },
  ];
}

function aboutWebhooks(shownOnce: ShownOnce): Action[] {
  return [
    {
      path: '/_page/webhooks',
      asks: ({ form }) => ({
        method: 'POST',
        path: '/_sandbox/webhooks',
        body: { url: form.get('url') ?? '', events: form.getAll('events') },
      }),
      leadsTo: (answer) => `/_page/webhooks?new=${shownOnce.put((answer as { secret: string }).secret)}`,
    },
    {
      path: '/_page/webhooks/:id/delete',
      asks: ({ part }) => ({ method: 'DELETE', path: `/_sandbox/webhooks/${part('id')}` }),
      leadsTo: '/_page/webhooks',
    },
    {
      path: '/_page/webhooks/:id/deliveries/:delivery/redeliver',
      asks: ({ part }) => ({
        method: 'POST',
        path: `/_sandbox/webhooks/${part('id')}/deliveries/${part('delivery')}/redeliver`,
      }),
      leadsTo: (_answer, { part }) => `/_page/webhooks#${part('id')}`,
    },
  ];
}

function aboutFaults(faults: Services['faults']): Action[] {
  const leadsTo = '/_page/faults';
  const removal = (id: string): Question => ({ method: 'DELETE', path: `/_sandbox/faults/${id}` });
  return [
    {
      path: '/_page/faults',
      asks: ({ form }) => ({ method: 'POST', path: '/_sandbox/faults', body: ruleIn(form) }),
      leadsTo,
    },
    {
      path: '/_page/faults/replace',
      asks: ({ form }) => ({ method: 'PUT', path: '/_sandbox/faults', body: jsonIn(form, 'rules') }),
      leadsTo,
    },
    { path: '/_page/faults/clear', asks: () => ({ method: 'DELETE', path: '/_sandbox/faults' }), leadsTo },
    { path: '/_page/faults/:id/remove', asks: ({ part }) => removal(part('id')), leadsTo },
    {
      path: '/_page/faults/presets/:name',
      asks: ({ form, part }) => {
        const preset = presets.find(({ name }) => name === part('name'));
        if (!preset) throw new ApiError('not_found', 'There is no such preset.');
        const active = activeOf(preset, faults);
        if (form.get('on') !== 'true') return active.map(({ id }) => removal(id));
        return active.length > 0 ? [] : { method: 'POST', path: '/_sandbox/faults', body: preset.rule };
      },
      leadsTo,
    },
  ];
}

/** Parses a field as JSON. @throws ApiError 400 if the field is not JSON */
function jsonIn(form: URLSearchParams, field: string): unknown {
  try {
    return JSON.parse(form.get(field) ?? '') as unknown;
  } catch {
    throw new ApiError('bad_request', 'This is not valid JSON.');
  }
}

const CONTROLS = '/_page/controls';

const aboutAll: readonly Action[] = [
  {
    path: '/_page/clock',
    asks: ({ form }) => ({ method: 'PUT', path: '/_sandbox/clock', body: { frozen: form.get('frozen') === 'true' } }),
    leadsTo: CONTROLS,
  },
  {
    path: '/_page/clock/set',
    asks: ({ form }) => ({ method: 'PUT', path: '/_sandbox/clock', body: { now: form.get('now') ?? '' } }),
    leadsTo: CONTROLS,
  },
  {
    path: '/_page/clock/advance',
    asks: ({ form }) => ({ method: 'POST', path: '/_sandbox/clock/advance', body: { by: form.get('by') ?? '' } }),
    leadsTo: CONTROLS,
  },
  {
    path: '/_page/limit',
    asks: ({ form }) => ({
      method: 'PUT',
      path: '/_sandbox/rate-limit',
      body: { requests_per_hour: Number(form.get('requests_per_hour') || Number.NaN) },
    }),
    leadsTo: CONTROLS,
  },
  {
    path: '/_page/seed',
    asks: ({ form }) => ({
      method: 'POST',
      path: '/_sandbox/seed',
      body: { videos: Number(form.get('videos') ?? ''), days: Number(form.get('days') ?? '') },
    }),
    leadsTo: '/',
  },
  {
    path: '/_page/profile',
    asks: ({ form }) => ({ method: 'PUT', path: '/_sandbox/profile', body: { profile: form.get('profile') ?? '' } }),
    leadsTo: CONTROLS,
  },
  {
    path: '/_page/profile/switch',
    asks: ({ form }) => {
      const [name = '', value = ''] = (form.get('switch') ?? '').split('=', 2);
      return { method: 'POST', path: '/_sandbox/profile/switches', body: { [name]: value } };
    },
    leadsTo: CONTROLS,
  },
  { path: '/_page/reset', asks: () => ({ method: 'POST', path: '/_sandbox/reset' }), leadsTo: '/' },
  {
    path: '/_page/requests/clear',
    asks: () => ({ method: 'DELETE', path: '/_sandbox/requests' }),
    leadsTo: '/_page/requests',
  },
];
