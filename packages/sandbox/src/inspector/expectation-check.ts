import { registeredExpectations, type RegisteredExpectations } from './expectation.ts';
import { TOO_MANY, type ExpectationBook } from './expectation-book.ts';
import { expectationsFrom, requireMet } from './verify.ts';

/** The check of registered expectations. Leaving the scope of `using` removes them, and checks nothing. */
export interface ExpectationCheck extends Disposable {
  /** @throws ExpectationError if one of them is unmet or broken, Error if they were replaced or removed */
  verify(): void;
}

/** Registers them, in the place of all others. @throws TypeError for a mistake in them */
export function registerExpectations(book: ExpectationBook, expected: RegisteredExpectations): ExpectationCheck {
  const own = expectationsFrom(registeredExpectations, expected);
  book.register(own);
  const isOwn = () => book.registered === own;
  return {
    verify: () => {
      const outcome = book.outcome();
      if (!outcome || !isOwn()) throw new Error('These expectations were replaced or removed meanwhile.');
      if (book.isFull) throw new Error(TOO_MANY);
      requireMet(outcome);
    },
    [Symbol.dispose]: () => {
      if (isOwn()) book.clear();
    },
  };
}
