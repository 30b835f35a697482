// What bundlers get under the `browser` condition. CommonJS, so that importing any name from it reaches this sentence.
throw new Error(
  '@dropcast/client needs Node 22 or newer; this is a browser, where everybody could read the API key. Call the service from a server.',
);
