import { ITUNES, PODCAST } from '../podcast.ts';
import { finding, isCount, isWebAddress, type Finding } from './finding.ts';
import type { ReadElement } from '../xml-reader.ts';
import { channelOf, childOf, itemsOf, namespaceFindings, repeatedElements, requireText, textOf } from './rss.ts';

/**
 * Checks the required and recommended rules of PSP-1 (Podcast Standards Project), with Apple's lists of categories and
 * enclosure types.
 */
export function* podcastFindings(rss: ReadElement): Generator<Finding> {
  yield* namespaceFindings(rss, 'itunes', ITUNES);
  yield* namespaceFindings(rss, 'podcast', PODCAST);
  const channel = channelOf(rss);
  if (!channel) return;
  yield* channelFindings(channel);
  for (const [item, label] of itemsOf(rss)) yield* itemFindings(item, label);
}

const UUID_5 = /^[\da-f]{8}-[\da-f]{4}-5[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

function* channelFindings(channel: ReadElement): Generator<Finding> {
  for (const name of ['language', 'itunes:author']) yield* requireText(channel, name);
  if (!CATEGORIES.has(childOf(channel, 'itunes:category')?.attributes.get('text') ?? ''))
    yield finding('itunes-category', "itunes:category must be one of Apple's categories");
  if (!['yes', 'no'].includes(textOf(channel, 'podcast:locked')))
    yield finding('podcast-locked', 'podcast:locked must be yes or no');
  if (!UUID_5.test(textOf(channel, 'podcast:guid')))
    yield finding('podcast-guid', 'podcast:guid must be a UUID of version 5');
  yield* ownerFindings(channel);
  yield* commonFindings(channel);
}

/**
 * Checks the owner's address. Directories write to it to verify the submitter, and the W3C feed validator warns if it
 * is missing.
 */
function* ownerFindings(channel: ReadElement): Generator<Finding> {
  const owners = channel.children.filter(({ name }) => name === 'itunes:owner');
  if (owners.length !== 1) yield finding('itunes-owner', 'there must be one itunes:owner');
  for (const owner of owners) {
    yield* repeatedElements(owner);
    if (!/^[^@\s]+@(?:[a-z\d-]+\.)+[a-z\d-]+$/i.test(textOf(owner, 'itunes:email')))
      yield finding('itunes-owner', 'itunes:owner must have an itunes:email with an address');
  }
}

function* itemFindings(item: ReadElement, label: string): Generator<Finding> {
  yield* commonFindings(item, label);
  const duration = textOf(item, 'itunes:duration');
  if (duration !== '' && !isCount(duration))
    yield finding('itunes-duration', `itunes:duration must be whole seconds, not ${duration}`, label);
  const { attributes } = childOf(item, 'enclosure') ?? { attributes: new Map<string, string>() };
  const extensions = ENCLOSURES[attributes.get('type') ?? ''];
  if (!extensions) yield finding('podcast-type', 'no podcast app plays an enclosure of this type', label);
  else if (!extensions.includes(extensionOf(attributes.get('url'))))
    yield finding('enclosure-extension', 'the path of the enclosure needs the extension of its type', label);
}

/** Checks the rules that channels and items share. */
function* commonFindings(parent: ReadElement, label?: string): Generator<Finding> {
  if (!['true', 'false'].includes(textOf(parent, 'itunes:explicit')))
    yield finding('itunes-explicit', 'itunes:explicit must be true or false', label);
  const image = childOf(parent, 'itunes:image')?.attributes.get('href');
  if (!isWebAddress(image) || !['jpg', 'jpeg', 'png'].includes(extensionOf(image)))
    yield finding('itunes-image', 'itunes:image must lead to a .jpg or .png', label);
  if (Buffer.byteLength(textOf(parent, 'description')) > 4000)
    yield finding('description-size', 'description must have at most 4,000 bytes', label);
  for (const { name, text } of parent.children)
    if (name !== 'description' && name !== 'item' && Array.from(text).length > 255)
      yield finding('value-size', `${name} must have at most 255 characters`, label);
}

function extensionOf(url: string | undefined): string {
  return /\.(\w+)$/.exec(URL.parse(url ?? '')?.pathname ?? '')?.[1] ?? '';
}

/** File extensions by enclosure type: PSP-1's types, Apple's names for them, and the other types that Apple accepts. */
const ENCLOSURES: Readonly<Record<string, readonly string[]>> = {
  'audio/mpeg': ['mp3'],
  'audio/m4a': ['m4a'],
  'audio/x-m4a': ['m4a'],
  'video/mp4': ['mp4', 'm4v'],
  'video/m4v': ['m4v'],
  'video/x-m4v': ['m4v'],
  'video/quicktime': ['mov'],
  'application/pdf': ['pdf'],
};

const CATEGORIES = new Set([
  'Arts',
  'Business',
  'Comedy',
  'Education',
  'Fiction',
  'Government',
  'Health & Fitness',
  'History',
  'Kids & Family',
  'Leisure',
  'Music',
  'News',
  'Religion & Spirituality',
  'Science',
  'Society & Culture',
  'Sports',
  'TV & Film',
  'Technology',
  'True Crime',
]);
