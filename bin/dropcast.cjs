#!/usr/bin/env node
// Starts dropcast on a Node that can run it: this one, else the one that comes with the package. Without either, says so.
'use strict';
var fs = require('fs');
var path = require('path');
var url = require('url');
var childProcess = require('child_process');
var os = require('os');
var tty = require('tty');
var runtime = require('./runtime.cjs');

function start() {
  if (runtime.isNewEnough(process.versions.node)) {
    // A clone runs its sources, an installed package its build (Node strips no types below node_modules).
    var source = path.join(__dirname, '..', 'src', 'main.ts');
    var built = path.join(__dirname, '..', 'dist', 'main.js');
    var isClone = fs.existsSync(source);
    // What Node makes of the sources is kept from the second start on: half the time and 30 MB less. Beside them, not in /tmp, where others could write.
    if (isClone) require('module').enableCompileCache(path.join(__dirname, '..', 'node_modules', '.cache', 'dropcast'));
    import(url.pathToFileURL(isClone ? source : built).href);
    return;
  }
  var node = runtime.bundledNode();
  if (!node) {
    console.error(runtime.missing);
    process.exitCode = 1;
    return;
  }
  var child = childProcess.spawn(node, [__filename].concat(process.argv.slice(2)), { stdio: 'inherit' });
  // Ctrl-C reaches the child from the terminal; forwarding it would count as a second one.
  var hasTerminal = [0, 1, 2].some(tty.isatty);
  ['SIGTERM', 'SIGHUP', 'SIGINT'].forEach(function (name) {
    process.on(name, function () {
      if (name !== 'SIGINT' || !hasTerminal) child.kill(name);
    });
  });
  child.on('error', function (error) {
    console.error('dropcast cannot start its runtime ' + node + ': ' + error.message);
    process.exitCode = 1;
  });
  child.on('exit', function (code, signal) {
    process.exitCode = signal ? 128 + os.constants.signals[signal] : code;
  });
}

start();
