#!/usr/bin/env node
// Starts the sandbox. Old JavaScript on purpose: any Node must be able to parse it, and say in one sentence what is missing.
'use strict';
var fs = require('fs');
var path = require('path');
var url = require('url');

var wanted = require('../package.json').engines.node.replace('>=', '').split('.').map(Number);
var version = process.versions.node.split('.').map(Number);
if (version[0] < wanted[0] || (version[0] === wanted[0] && version[1] < wanted[1])) {
  console.error(
    'dropcast-sandbox needs Node ' + wanted.join('.') + ' or newer. This is Node ' + process.versions.node + '.',
  );
  process.exitCode = 1;
} else {
  // Node 22 warns that its SQLite is experimental, which a user of the sandbox can do nothing about.
  var warn = process.emitWarning;
  process.emitWarning = function (warning, type) {
    if (type !== 'ExperimentalWarning') warn.apply(process, arguments);
  };
  // A clone runs its sources, an installed package its build (Node strips no types below node_modules).
  var source = path.join(__dirname, '..', 'src', 'main.ts');
  var built = path.join(__dirname, '..', 'dist', 'main.js');
  void import(url.pathToFileURL(fs.existsSync(source) ? source : built).href);
}
