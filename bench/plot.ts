import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom';
import type { ResultPlot } from './measure.ts';

/** One line per series, with its points marked and its name at its end, as a stand-alone SVG. */
export function plotSvg({ title, x, y, isLogX, series }: ResultPlot): string {
  const { document } = parseHTML('<html></html>');
  const points = Object.entries(series).flatMap(([name, of]) => of.map(([px, py]) => ({ name, x: px, y: py })));
  const position = { x: 'x', y: 'y', stroke: 'name' } as const;
  const drawn = Plot.plot({
    document,
    width: 720,
    height: 320,
    marginLeft: 56,
    marginRight: 110,
    x: { label: x, type: isLogX ? 'log' : 'linear' },
    y: { label: y, zero: true, grid: true },
    marks: [
      Plot.ruleY([0]),
      Plot.lineY(points, position),
      Plot.dot(points, position),
      Plot.text(points, Plot.selectLast({ x: 'x', y: 'y', z: 'name', text: 'name', textAnchor: 'start', dx: 8 })),
    ],
  });
  drawn.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  drawn.setAttribute('role', 'img');
  drawn.setAttribute('aria-label', title);
  // Readable on a dark page too, where the picture has no page behind it.
  drawn.setAttribute('style', 'background: white; color: black');
  return `${drawn.outerHTML}\n`;
}
