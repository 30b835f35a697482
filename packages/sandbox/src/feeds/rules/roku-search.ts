import { z } from 'zod';
import type { Finding } from './finding.ts';
import { atMost, day, schemaFindings, seconds, webAddress } from './json.ts';

/** Checks the rules of Roku's Search feed 2.0: its schema, and its text where the schema is less strict. */
export function rokuSearchFindings(feed: unknown): Iterable<Finding> {
  return schemaFindings(feed, schema, ['assets']);
}

const languages = z.array(z.string().regex(/^[a-z]{2}(?:-[a-z]{2})?$/)).min(1);
const said = (characters: number) => z.array(z.object({ value: atMost(characters), languages })).min(1);

const playOption = z.object({
  license: z.enum(['free', 'subscription', 'rental', 'purchase']),
  quality: z.enum(['sd', 'hd', 'hd+', 'fhd', 'uhd']),
  playId: z.string().min(1),
  availabilityStartTime: z.iso.datetime({ offset: true }),
  availabilityInfo: z.object({ country: z.array(z.string().length(2)).min(1) }),
});

const asset = z.object({
  id: atMost(50),
  type: z.enum(['shortForm', 'movie']),
  titles: said(200),
  shortDescriptions: said(200),
  longDescriptions: said(500),
  releaseDate: day,
  genres: z.array(z.string()).min(1),
  advisoryRatings: z.array(z.object({ source: z.string(), value: z.string() })),
  images: z.array(z.object({ type: z.literal('main'), url: webAddress, languages })).min(1),
  durationInSeconds: seconds,
  content: z.object({ playOptions: z.array(playOption).min(1) }),
});

const schema = z.object({
  version: z.literal('1'),
  defaultLanguage: z.string().min(2),
  defaultAvailabilityCountries: z.array(z.string().length(2)).min(1),
  nextPageUrl: webAddress.optional(),
  assets: z.array(asset),
});
