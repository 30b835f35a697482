import type { FleetPlant } from '../fleet/plants.ts';

/** Differences between the engines: each of them has PostgreSQL alone. */
export const enginePlants: readonly FleetPlant[] = [
  {
    name: 'a column that is not kept',
    world: 'engines',
    breaks: ['same'],
    seen: [1],
    changes: [
      {
        file: 'src/fleet/postgres/words.ts',
        from: "return { ...derivedOf(facts), host: isSent ? (before['host'] ?? host) : host };",
        to: 'return { ...derivedOf(facts), host, disposal: null };',
      },
    ],
  },
  {
    name: 'the newest file first',
    world: 'engines',
    breaks: ['same'],
    seen: [2],
    changes: [
      {
        file: 'src/fleet/postgres/words.ts',
        from: 'orderIn: (column) => `${column}, urgency, seq`,',
        to: 'orderIn: (column) => `${column}, urgency, seq desc`,',
      },
    ],
  },
  {
    name: 'letters in another form',
    world: 'engines',
    breaks: ['same'],
    seen: [1],
    changes: [
      {
        file: 'src/fleet/postgres/statement.ts',
        from: "value.toWellFormed().replaceAll('\\0', '\\uFFFD')",
        to: "value.toWellFormed().normalize('NFD')",
      },
    ],
  },
  {
    name: 'no duplicates',
    world: 'engines',
    breaks: ['same'],
    seen: [4],
    changes: [
      {
        file: 'src/fleet/in-places.ts',
        from: 'rows: (wanted) => all(',
        to: "rows: (wanted) => wanted.group === 'twins' ? Promise.resolve([]) : all(",
      },
    ],
  },
  {
    name: 'new titles that are never sent',
    world: 'engines',
    breaks: ['same'],
    seen: [2],
    changes: [
      {
        file: 'src/fleet/in-places.ts',
        from: 'rows: (wanted) => all(',
        to: "rows: (wanted) => wanted.group === 'to amend' ? Promise.resolve([]) : all(",
      },
    ],
  },
  {
    name: 'a pause that holds nothing',
    world: 'engines',
    breaks: ['same'],
    seen: [1],
    changes: [
      {
        file: 'src/fleet/in-places.ts',
        from: 'savePause({ ...pause, folder: pause.folder === null ? null : placeOf(pause.folder) }, event)',
        to: 'savePause({ ...pause, folder: pause.folder }, event)',
      },
    ],
  },
];
