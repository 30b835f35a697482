// Loaded before the program and its threads: they believe to run on macOS.
Object.defineProperty(process, 'platform', { value: 'darwin' });
