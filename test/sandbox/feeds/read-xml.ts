import { DOMParser } from 'linkedom';

export interface ReadElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly ReadElement[];
  readonly text: string;
}

/** Reads a document as a browser does. */
export function readXml(document: string): ReadElement {
  return elementOf(new DOMParser().parseFromString(document, 'text/xml').documentElement);
}

type Parsed = ReturnType<DOMParser['parseFromString']>['documentElement'];

function elementOf(element: Parsed): ReadElement {
  return {
    name: element.tagName,
    attributes: new Map(Array.from(element.attributes, ({ name, value }) => [name, value])),
    children: Array.from(element.children, elementOf),
    text: element.textContent ?? '',
  };
}
