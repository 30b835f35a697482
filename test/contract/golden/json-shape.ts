import { SignatureKind, SymbolFlags, TypeFlags } from 'typescript/unstable/sync';
import type { Checker, Symbol, Type } from 'typescript/unstable/sync';

/** The values that a place in a JSON document may hold. */
export interface Place {
  /** JSON types; `any` where the code says nothing about the value. */
  readonly types: Set<string>;
  /** Texts that the type names. */
  readonly words: Set<string>;
  /** True when it may be absent while the object around it is there. */
  isOptional: boolean;
}

/**
 * The places of the JSON that `JSON.stringify` makes of values of these types.
 *
 * @param types of a document, one for each of its variants
 * @returns by path, as in `files[].state`; `{}` is any key of a mapping, and the empty path for the document
 */
export function shapeOf(types: readonly Type[], checker: Checker): ReadonlyMap<string, Place> {
  const shape = new Shape(checker);
  shape.add('', types, []);
  return shape.places;
}

class Shape {
  readonly places = new Map<string, Place>();
  readonly #checker: Checker;

  constructor(checker: Checker) {
    this.#checker = checker;
  }

  /** @param around the objects that the place is in: a type that contains itself is followed once */
  add(path: string, types: readonly Type[], around: readonly Type[]): void {
    const place = this.#placeOf(path);
    const objects: Type[] = [];
    const elements: Type[] = [];
    for (const type of types.flatMap(variantsOf)) {
      if (type.isStringLiteralType()) place.words.add(type.value);
      const scalar = scalarOf(type);
      const element = scalar === null ? this.#elementOf(type) : null;
      if (scalar === null && element === null) objects.push(type);
      if (element !== null) elements.push(element);
      place.types.add(scalar ?? (element === null ? 'object' : 'array'));
    }
    if (elements.length > 0) this.add(`${path}[]`, elements, around);
    const news = objects.filter(({ id }) => !around.some((each) => each.id === id));
    if (news.length > 0) this.#addMembers(path, news, [...around, ...news]);
  }

  #addMembers(path: string, objects: readonly Type[], around: readonly Type[]): void {
    const values = objects.flatMap((object) => this.#checker.getIndexInfosOfType(object)).map((it) => it.valueType);
    if (values.length > 0) this.add(`${path}{}`, values, around);
    const members = Map.groupBy(
      objects.flatMap((object) => this.#membersOf(object)),
      ({ symbol }) => symbol.name,
    );
    for (const [name, variants] of members) {
      const below = path === '' ? name : `${path}.${name}`;
      const isOptional = variants.length < objects.length || variants.some(mayBeAbsent);
      this.add(
        below,
        variants.map(({ type }) => type),
        around,
      );
      this.#placeOf(below).isOptional ||= isOptional;
    }
  }

  #membersOf(object: Type): readonly Member[] {
    return this.#checker.getPropertiesOfType(object).flatMap((symbol) => {
      const type = this.#checker.getTypeOfSymbol(symbol);
      if (type === undefined) return [];
      const isFunction = this.#checker.getSignaturesOfType(type, SignatureKind.Call).length > 0;
      return isFunction ? [] : [{ symbol, type }];
    });
  }

  #elementOf(type: Type): Type | null {
    if (!this.#checker.isArrayLikeType(type)) return null;
    return this.#checker.getIndexInfosOfType(type)[0]?.valueType ?? null;
  }

  #placeOf(path: string): Place {
    const place = this.places.get(path) ?? { types: new Set(), words: new Set(), isOptional: false };
    this.places.set(path, place);
    return place;
  }
}

interface Member {
  readonly symbol: Symbol;
  readonly type: Type;
}

/** Without `undefined`, which JSON leaves out. */
function variantsOf(type: Type): readonly Type[] {
  const all = type.isUnionType() && !(type.flags & TypeFlags.Boolean) ? type.getTypes() : [type];
  return all.filter(({ flags }) => !(flags & (TypeFlags.Undefined | TypeFlags.Never)));
}

function mayBeAbsent({ symbol, type }: Member): boolean {
  const parts = type.isUnionType() ? type.getTypes() : [type];
  return Boolean(symbol.flags & SymbolFlags.Optional) || parts.some(({ flags }) => flags & TypeFlags.Undefined);
}

/** The JSON type of what is neither object nor array; null for these. */
function scalarOf(type: Type): string | null {
  const { flags } = type;
  if (flags & (TypeFlags.Any | TypeFlags.Unknown | TypeFlags.NonPrimitive)) return 'any';
  if (flags & TypeFlags.Null) return 'null';
  if (flags & (TypeFlags.StringLike | TypeFlags.BigIntLike)) return 'string'; // printJson writes the digits of a big integer
  if (flags & TypeFlags.NumberLike) return 'number';
  if (flags & TypeFlags.BooleanLike) return 'boolean';
  // `string & {}`, which keeps the words of a union that also allows other texts.
  if (type.isIntersectionType())
    return (
      type
        .getTypes()
        .map((part) => (part.isObjectType() ? null : scalarOf(part)))
        .find((it) => it !== null) ?? null
    );
  const { name = '' } = type.getSymbol() ?? {};
  if (name === 'Date' || name === 'URL') return 'string';
  return name.endsWith('Error') ? 'error' : null;
}
