export { escapeControls, escapeJson, quote } from '@dropcast/pages/unsafe-characters';
