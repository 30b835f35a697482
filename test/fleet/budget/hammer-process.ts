import { Hammer } from './hammer.ts';
import type { Order } from './hammer.ts';

// A process of its own: shared-budget.pg.test.ts starts it and sends the orders.

const [, , url = '', limit = ''] = process.argv;
const hammer = new Hammer(url, Number(limit));

process.on('message', (order: Order) => {
  void hammer.obey(order).then((answer) => process.send?.(answer));
});
