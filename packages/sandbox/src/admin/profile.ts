import { z } from 'zod';
import type { Endpoint } from '../http/handler.ts';
import { jsonBody } from '../http/input.ts';
import { profileSchema, switchesSchema, type Switchboard } from '../profiles/switchboard.ts';
import { openPoints, profiles } from '../profiles/switch-table.ts';

/** Endpoints for the choices that the specification leaves open, which can be changed while the service is running. */
export function profileEndpoints(switchboard: Switchboard): Endpoint[] {
  return [
    {
      method: 'GET',
      path: '/_sandbox/profile',
      says: 'Returns the profile, the points set in addition to it, and all points with their values.',
      handler: (context) => context.json({ data: { ...switchboard.view(), profiles, points: openPoints } }),
    },
    {
      method: 'PUT',
      path: '/_sandbox/profile',
      says: 'Chooses a profile, and single points in addition to it, with {"profile": "lenient", "switches": {"create_status": "202"}}; {} is the default.',
      handler: async (context) => {
        const { profile, switches } = await jsonBody(context.req.raw, whole);
        switchboard.replace(profile, switches);
        return context.json({ data: switchboard.view() });
      },
    },
    {
      method: 'POST',
      path: '/_sandbox/profile/switches',
      says: 'Sets single points with {"create_status": "202"}; the others stay.',
      handler: async (context) => {
        switchboard.set(await jsonBody(context.req.raw, switchesSchema));
        return context.json({ data: switchboard.view() });
      },
    },
  ];
}

const whole = z.strictObject({ profile: profileSchema.default('default'), switches: switchesSchema.default({}) });
