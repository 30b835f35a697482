import type { Facts } from '../file/facts.ts';
import { isMarker } from '../file/marker.ts';
import type { RemoteVideo } from '../file/ports.ts';

export type EditedField = 'title' | 'description' | 'tags' | 'channel';

/**
 * Returns which fields of a video were changed on the service since dropcast sent them. Pure.
 *
 * A field counts as changed only if the service returned it: list items lack description, channel and tags, so use the
 * answer of `VideoLibrary.get`. A field of a pending amendment is not compared, because either text may be on the
 * service. An empty description equals none. Tags are compared as a set, because the specification gives their order no
 * meaning, and markers (`service.marker`) are left out.
 *
 * @param sent the row, whose plan is what dropcast sent, amendments included
 */
export function handEdits(
  { plan, amendment }: Pick<Facts, 'plan' | 'amendment'>,
  { title, description, tags, channel }: Pick<RemoteVideo, EditedField>,
): readonly EditedField[] {
  if (plan === null) return [];
  const isChanged: Readonly<Record<EditedField, boolean>> = {
    title: title !== undefined && title !== plan.title,
    description: description !== undefined && description !== (plan.description ?? ''),
    tags: tags !== undefined && own(tags).symmetricDifference(own(plan.tags)).size > 0,
    channel: channel !== undefined && channel !== plan.channel,
  };
  const pending: object = amendment ?? {};
  return fields.filter((field) => isChanged[field] && !(field in pending));
}

const fields = ['title', 'description', 'tags', 'channel'] as const satisfies readonly EditedField[];

function own(tags: readonly string[]): ReadonlySet<string> {
  return new Set(tags.filter((tag) => !isMarker(tag)));
}
