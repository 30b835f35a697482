import type { Action, Sent } from './ask-service.ts';

/** The actions behind the makers' forms. */
export const aboutMakers: readonly Action[] = [
  {
    path: '/_page/channels',
    asks: ({ form }) => ({ method: 'POST', path: '/_sandbox/channels', body: given(form, ['name', 'description']) }),
    leadsTo: '/_page/channels',
  },
  {
    path: '/_page/channels/:id/delete',
    asks: ({ part }) => ({ method: 'DELETE', path: `/_sandbox/channels/${part('id')}` }),
    leadsTo: '/_page/channels',
  },
  {
    path: '/_page/feeds',
    asks: ({ form }) => ({
      method: 'POST',
      path: '/_sandbox/feeds',
      body: given(form, ['name', 'type', 'channel_id']),
    }),
    leadsTo: '/_page/feeds',
  },
  {
    path: '/_page/feeds/:id/delete',
    asks: ({ part }) => ({ method: 'DELETE', path: `/_sandbox/feeds/${part('id')}` }),
    leadsTo: '/_page/feeds',
  },
  {
    path: '/_page/videos',
    asks: ({ form }) => ({
      method: 'POST',
      path: '/_sandbox/videos',
      body: { ...given(form, ['title', 'channel_id']), ...numberIn(form, 'duration') },
    }),
    leadsTo: '/_page/videos',
  },
  {
    path: '/_page/videos/:id/plays',
    asks: ({ form, part }) => ({ method: 'POST', path: '/_sandbox/plays', body: [playIn(form, part('id'))] }),
    leadsTo: (_answer, { part }) => `/_page/videos/${part('id')}`,
  },
  {
    path: '/_page/snapshots',
    asks: ({ form }) => ({
      method: 'PUT',
      // An empty name would address another path. A blank one makes the admin side refuse and explain what a valid name
      // is.
      path: `/_sandbox/snapshots/${encodeURIComponent(form.get('name') || ' ')}`,
    }),
    leadsTo: '/_page/controls',
  },
  {
    path: '/_page/snapshots/:name/restore',
    asks: ({ part }) => ({ method: 'POST', path: `/_sandbox/snapshots/${part('name')}/restore` }),
    leadsTo: '/',
  },
  {
    path: '/_page/snapshots/:name/delete',
    asks: ({ part }) => ({ method: 'DELETE', path: `/_sandbox/snapshots/${part('name')}` }),
    leadsTo: '/_page/controls',
  },
];

type Form = Sent['form'];

/** Returns the named fields that are filled in. */
function given(form: Form, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (form.get(name) ? [[name, form.get(name) ?? '']] : [])));
}

function numberIn(form: Form, name: string): Record<string, number> {
  return form.get(name) ? { [name]: Number(form.get(name)) } : {};
}

function playIn(form: Form, videoId: string): object {
  return {
    video_id: decodeURIComponent(videoId),
    seconds: Number(form.get('seconds') || Number.NaN),
    ...given(form, ['viewer']),
    complete: form.get('complete') === 'true',
  };
}
