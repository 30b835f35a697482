/** The icon: a drop with a play symbol. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="7" fill="#2457d6"/>
<path d="M16 5.5c3.6 4.3 7.2 8.3 7.2 12.6a7.2 7.2 0 0 1-14.4 0C8.8 13.8 12.4 9.8 16 5.5z" fill="#fff"/>
<path d="m13.9 14.7 5.4 3.3-5.4 3.3z" fill="#2457d6"/>
</svg>
`;
