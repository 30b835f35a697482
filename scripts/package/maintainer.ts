/** Who is named as the maker of the package, in the form of deb-control(5). */
export const MAINTAINER = 'The dropcast authors <dropcast@localhost>';
