import { property, TaggedValue, textOf } from './raw-tree.ts';

/** The files that `ledger` names: its password and its certificates. */
export function ledgerFiles(tree: unknown): readonly string[] {
  const ledger = property(tree, 'ledger');
  const password = property(ledger, 'password');
  const ca = textOf(property(ledger, 'ca')) ?? '';
  return [
    ...(password instanceof TaggedValue && password.tag === 'file' ? [password.argument] : []),
    ...(ca.trim() === '' ? [] : [ca]),
  ];
}
